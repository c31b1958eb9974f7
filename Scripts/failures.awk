# Extracts the failures from a check's log: each line that reports one, without repetitions. If a program ended early,
# also the tests that were running then, or their number if there are more than a few.
#
# Usage: awk -f failures.awk -v most=20 -v frames=3 LOG
#
# most: the highest number of lines; frames: the number of frames of each stack that a sanitizer prints.

function tell(line) {
  sub(/ \([^ ]*\+0x[0-9a-f]+\).*/, "", line) # the frame's address in the program
  if (line in told) return
  told[line]
  if (++count <= most) print substr(line, 1, 220)
}

# Swift Testing: which tests are running, and what they report.
/^✘ (Suite|Test case) / || /^✘ Test run .* failed after/ { next }
/^◇ Test .* started\.$/ { running[test($0)]; next }
/^(✔|✘) Test .* (passed|failed) after / {
  delete running[test($0)]
  if (/^✘/ && !(test($0) in found)) tell($0)
  next
}
/^✘ Test .* recorded an issue/ { found[test($0)] }
/^✘/ { tell($0) }

# Sanitizers, crashes, compilers, and the checks' own messages.
/ERROR: |SUMMARY: |WARNING: ThreadSanitizer|runtime error: / { tell($0); depth = frames; next }
/^ *#[0-9]+ / { if (depth-- > 0) tell($0); next }
/unexpected signal|^\*\*\* |Fatal error|Assertion .* failed/ { tell($0); crashed = 1; next }
/error: |NOT NOTICED|WRONG: |^wrong: |TIMES AS MANY/ { tell($0) }
/^(Sources|Tests|[^ ]*\.swift)[^ ]*:[0-9]+: / { tell($0) }

function test(line) {
  sub(/^(◇|✔|✘) Test /, "", line)
  sub(/ (started\.|passed after .*|failed after .*|recorded an issue.*)$/, "", line)
  sub(/ with [0-9]+ test cases?$/, "", line)
  return line
}

END {
  if (crashed && length(running) > 5) tell(length(running) " tests were running then; with --no-parallel it is one")
  else if (crashed) for (name in running) tell("running then: " name)
  if (!count) print "(nothing that names a failure; its last line: " $0 ")"
  if (count > most) print "(" count - most " more)"
}
