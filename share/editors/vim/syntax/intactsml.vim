" SML models of Intact. A test compares the words with those of the language.
if exists('b:current_syntax')
  finish
endif
syn keyword intactsmlType int lock
syn keyword intactsmlConditional if else
syn keyword intactsmlRepeat while
syn keyword intactsmlClaim begin end
syn keyword intactsmlSync acquire release
syn keyword intactsmlStatement skip
syn keyword intactsmlBoolean true false
syn match intactsmlThreads "||"
syn match intactsmlNumber "\<\d\+\>"
syn region intactsmlComment start="//" end="$" contains=@Spell
syn region intactsmlComment start="/\*" end="\*/" contains=@Spell
hi def link intactsmlType Type
hi def link intactsmlConditional Conditional
hi def link intactsmlRepeat Repeat
hi def link intactsmlClaim PreProc
hi def link intactsmlSync Function
hi def link intactsmlStatement Statement
hi def link intactsmlBoolean Boolean
hi def link intactsmlThreads Special
hi def link intactsmlNumber Number
hi def link intactsmlComment Comment
let b:current_syntax = 'intactsml'
