" Models and specifications of Intact (.atm, .spec). A test compares the words with those of the language.
if exists('b:current_syntax')
  finish
endif
syn keyword intactType bool int enum lock void semaphore chan struct wrap u8 i8 u16 i16 rwlock cond barrier once spurious
syn keyword intactStorage const safe regular proc thread object ghost thread_local pool
syn keyword intactConditional if else switch case default either or
syn keyword intactRepeat while repeat for do
syn keyword intactStatement break continue return skip
syn keyword intactClaim atomic commit step assume assert always finally can reach
syn keyword intactSync acquire release wait trywait post signal broadcast acquire_read acquire_write call_once send recv try_send try_recv alloc try_alloc free inside held leaked
syn keyword intactMachine cas exchange fetch_add any
syn keyword intactBoolean true false null
syn match intactNumber "\<\%(0[xX]\x\+\|\d\+\)\>"
syn match intactOperator "[-+*/%&|^~!<>=?:]"
syn keyword intactTodo TODO FIXME contained
syn match intactExpect "@expect\>.*$" contained
syn region intactComment start="//" end="$" contains=intactTodo,intactExpect,@Spell
syn region intactComment start="/\*" end="\*/" contains=intactTodo,@Spell
hi def link intactType Type
hi def link intactStorage StorageClass
hi def link intactConditional Conditional
hi def link intactRepeat Repeat
hi def link intactStatement Statement
hi def link intactClaim PreProc
hi def link intactSync Function
hi def link intactMachine Function
hi def link intactBoolean Boolean
hi def link intactNumber Number
hi def link intactOperator Operator
hi def link intactTodo Todo
hi def link intactExpect SpecialComment
hi def link intactComment Comment
let b:current_syntax = 'intact'
