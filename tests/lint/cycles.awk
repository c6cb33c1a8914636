# SPDX-License-Identifier: MIT
# From lines "FILE TYPE SYMBOL", as nm has them, the circles of files that use each other's
# symbols, one a line: the files, in order, joined by +, and their number.
$2 ~ /^[TRDBW]$/ { home[$3] = $1 }
$2 == "U" { uses[$1, $3] = 1 }
!($1 in seen) { seen[$1] = 1; file[++count] = $1 }

END {
	for (use in uses) {
		split(use, part, SUBSEP)
		if (part[2] in home && home[part[2]] != part[1])
			reach[part[1], home[part[2]]] = 1
	}
	for (k = 1; k <= count; k++)
		for (i = 1; i <= count; i++)
			if ((file[i], file[k]) in reach)
				for (j = 1; j <= count; j++)
					if ((file[k], file[j]) in reach)
						reach[file[i], file[j]] = 1
	for (i = 1; i <= count; i++)
		for (j = i + 1; j <= count; j++)
			if (file[j] < file[i]) {
				one = file[i]
				file[i] = file[j]
				file[j] = one
			}
	for (i = 1; i <= count; i++) {
		if (file[i] in shown || !((file[i], file[i]) in reach))
			continue
		circle = ""
		size = 0
		for (j = i; j <= count; j++)
			if ((file[i], file[j]) in reach && (file[j], file[i]) in reach) {
				shown[file[j]] = 1
				circle = circle (size++ ? "+" : "") file[j]
			}
		print circle, size, "files"
	}
}
