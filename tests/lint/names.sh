#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing of the machine it was written on: no package registry's host, no
# absolute path into somebody's home or checkout.  (Patterns are written so that
# they do not match themselves.)
. "$(dirname "$0")/lib.sh"

registries='(deb|security|ftp|snapshot)[.][a-z.]*debian[.]org|pyp[i][.]org|npmj[s][.]|crate[s][.]io|rubygem[s][.]org|golan[g][.]org|pythonhoste[d][.]org'
paths='(^|[^A-Za-z0-9_.$})])/(wor[k]|hom[e]/[a-z]|roo[t]/|User[s]/|workspac[e]|buil[d]s/)'

lint_files '*' | xargs -r grep -IHnE "$registries" /dev/null |
	lint_report 'names a package registry' || true
lint_files '*' | xargs -r grep -IHnE "$paths" /dev/null |
	lint_report 'absolute path of a machine' || true

lint_done
