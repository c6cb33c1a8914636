# SPDX-License-Identifier: MIT
# Print C files as FILE:LINE:CODE with comments gone and strings emptied, so that
# the other lints see code and nothing else.
FNR == 1 { in_comment = 0 }
{
	rest = $0
	code = ""
	while (rest != "") {
		if (in_comment) {
			end = index(rest, "*/")
			if (!end)
				break
			rest = substr(rest, end + 2)
			in_comment = 0
		} else if (match(rest, /^("([^"\\]|\\.)*"|'([^'\\]|\\.)*')/)) {
			code = code substr(rest, 1, 1) substr(rest, 1, 1)
			rest = substr(rest, RLENGTH + 1)
		} else if (substr(rest, 1, 2) == "/*") {
			in_comment = 1
			rest = substr(rest, 3)
		} else if (substr(rest, 1, 2) == "//") {
			break
		} else {
			match(rest, /^.[^"'\/]*/)
			code = code substr(rest, 1, RLENGTH)
			rest = substr(rest, RLENGTH + 1)
		}
	}
	if (code ~ /[^ \t]/)
		print FILENAME ":" FNR ":" code
}
