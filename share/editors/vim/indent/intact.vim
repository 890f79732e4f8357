" The indentation of intact fmt: two blanks a level, case labels under their switch.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1
setlocal cindent cinoptions=:0,l1,b0,(4,u4,j0 cinkeys-=0# cinwords=if,else,while,repeat,for,do,switch
" here, too: leaving another file type's indentation resets them
setlocal expandtab shiftwidth=2 softtabstop=2
let b:undo_indent = 'setlocal cindent< cinoptions< cinkeys< cinwords< expandtab< shiftwidth< softtabstop<'
