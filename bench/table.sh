#!/bin/sh
# SPDX-License-Identifier: MIT
# table.sh PART.json: what `taskq-bench --json PART` printed, as a page of Markdown.
set -eu
json=$1
part=$(basename "$json" .json)

# rows FILTER: cells that jq makes, with bars around them.
rows()
{
	jq -r "$1 | map(tostring) | \"| \" + join(\" | \") + \" |\"" "$json"
}

# Numbers of three digits at least, and no more than are of interest.
figure='def figure: if . == null then "-" elif . >= 100 then round
	elif . >= 10 then (. * 10 | round / 10) else (. * 100 | round / 100) end | tostring;'

# has FILTER: there is a line of that kind.
has()
{
	jq -se "map($1) | length > 0" "$json" >/dev/null
}

echo "# taskq-bench $part"
echo
echo "Made by \`./run bench --plots\` from [$part.json]($part.json): do not edit."
jq -r 'select(.name == "machine") |
	"\(.processors) processors (\(.model)), with a load of \(.load) when it began."' "$json"
echo "Medians of rounds in which all take turns; behind them the least and the most."

if has 'select(.settings)'; then
	printf '\n## What is compared\n\n| Peer | Settings | Lacks beside taskq |\n|---|---|---|\n'
	rows 'select(.settings) | [.name, .settings, .lacks]'
fi
if has 'select(.met == true or .met == false)'; then
	printf '\n## Bounds\n\n| Row | Measured | Bound | |\n|---|---:|---:|---|\n'
	rows "$figure"' select(.met != null and .value != null) |
		[.name, "\(.value | figure) \(.unit)", "\(.side) \(.bound | figure)",
			if .met then "met" else "MISSED" end]'
fi
for plot in $(jq -r 'select(.plot) | .plot' "$json" | awk '!seen[$0]++'); do
	printf '\n## %s\n\n' "$plot"
	[ ! -f "$(dirname "$json")/$plot.svg" ] || printf '![%s](%s.svg)\n\n' "$plot" "$plot"
	printf '| Row | Median | Least | Most |\n|---|---:|---:|---:|\n'
	rows "$figure"' select(.plot == "'"$plot"'") | [.name, "\(.value | figure) \(.unit)",
		(.least | figure), (.most | figure)]'
done
if has 'select(.met == null and .plot == null and .value != null)'; then
	printf '\n## Other rows\n\n| Row | Measured |\n|---|---:|\n'
	rows "$figure"' select(.met == null and .plot == null and .value != null) |
		[.name, "\(.value | figure) \(.unit)"]'
fi
if has 'select(.not_measured | type == "string")'; then
	printf '\n## Not measured\n\n| Row | Why |\n|---|---|\n'
	rows 'select(.not_measured | type == "string") | [.name, .not_measured]'
fi
