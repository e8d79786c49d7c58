#!/usr/bin/env bash
# Where the simulator's time goes, by part: each sample of a running program is given to a part by the source lines that
# were inlined at its address. Needs Linux on x86-64, perf, perl and binutils.
#   docs/profile.sh PROGRAM [ARGUMENT...]
set -euo pipefail
samples=$(mktemp)
trap 'rm -f "$samples"' EXIT
setarch -R perf record -q -e cpu-clock -F 5000 -o "$samples" "$@" >/dev/null
# Without randomised addresses a program lies here.
perf script -i "$samples" -F ip 2>/dev/null |
    perl -ne 's/\s//g; printf "%x\n", hex($_) - 0x555555554000 if /^5555/' |
    addr2line -a -i -e "$1" |
    perl -ne '
        sub count {
            return unless @lines;
            $_ = join " ", @lines;
            $parts{
                m{simt/src/(check/|machine/observe)} ? "checks"
                : m{simt/src/(machine/(access|load|store|atomic|local)\b|memory/|coalesce)} ? "accesses and their counting"
                : m{simt/src/machine/|simt/src/lanes/registers.*machine/} ? "dispatch, branches, barriers, new blocks"
                : m{simt/src/lanes/} ? "arithmetic"
                : "other"
            }++;
            $all++;
        }
        if (/^0x/) { count(); @lines = () } else { push @lines, $_ }
        END { count(); printf "%5.1f %%  %s\n", 100 * $parts{$_} / $all, $_ for sort { $parts{$b} <=> $parts{$a} } keys %parts }'
