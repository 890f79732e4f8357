; Colours of models in SML.
(comment) @comment
(number) @number
(boolean) @constant.builtin
(definition name: (identifier) @variable)
(lock_statement lock: (identifier) @variable)
["int" "lock"] @type.builtin
["while" "if" "else" "begin" "end"] @keyword
(skip) @keyword
["acquire" "release"] @function.builtin
[":=" "||" "∨" "|" "¬" "!" "<" "≤" "<=" ">" "≥" ">=" "=" "!=" "+" "-" "*" "∗" "/"] @operator
["(" ")" "{" "}"] @punctuation.bracket
";" @punctuation.delimiter
