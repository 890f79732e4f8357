; Colours of models. The names of captures are those of the tree-sitter command and of Neovim.
(comment) @comment
(number) @number
(boolean) @constant.builtin
(null) @constant.builtin
(enumerator) @constant
(field_name) @property
(type_name) @type
(primitive_type) @type.builtin
(range_type "int" @type.builtin)

(thread name: (identifier) @function)
(procedure name: (identifier) @function)
(object name: (identifier) @type)
(object condition: (identifier) @type.builtin)
(atomic name: (identifier) @label)
(parameter name: (identifier) @variable.parameter)
(constant name: (identifier) @constant)
(call procedure: (identifier) @function)
(call procedure: (member field: (field_name) @function))

((call procedure: (identifier) @function.builtin)
 (#match? @function.builtin "^(acquire|acquire_read|acquire_write|release|assert|assume|cas|exchange|fetch_add|wait|trywait|post|signal|broadcast|call_once|send|recv|try_send|try_recv|alloc|try_alloc|free|inside|held|leaked)$"))
((type_name) @type.builtin
 (#match? @type.builtin "^(u8|i8|u16|i16|semaphore|rwlock|cond|barrier|once)$"))

["if" "else" "while" "repeat" "for" "do" "switch" "case" "default" "either" "or" "return" "break" "continue"] @keyword
["atomic" "commit" "step" "skip" "any"] @keyword
["thread" "proc" "object" "const" "enum" "struct" "wrap" "chan" "safe" "regular" "spurious" "pool" "ghost" "thread_local" "always" "finally" "can" "reach"] @keyword
["=" "+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" "++" "--" "+" "-" "*" "/" "%" "==" "!=" "<" "<=" ">" ">=" "<<" ">>" "&&" "||" "&" "|" "^" "!" "~" "?" ".."] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
[";" "," "." ":"] @punctuation.delimiter
