" Models and specifications of Intact (.atm, .spec).
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=//\ %s comments=sO:*\ -,mO:*\ \ ,exO:*/,s1:/*,mb:*,ex:*/,://
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal formatoptions-=t formatoptions+=croql
" gq and = on a whole file: intact fmt.
setlocal formatprg=intact\ fmt\ -
" :make checks the model; the messages fill the quickfix list.
setlocal makeprg=intact\ check\ %:S errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%-G%.%#
let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< formatoptions< formatprg< makeprg< errorformat<'
