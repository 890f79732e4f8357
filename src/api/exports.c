/* exports: libintact.so is made of the objects that the functions of include/intact need; a library needs one of its own. */
#include "intact/intact.h"
#include "intact/txn.h"

_Static_assert(INTACT_API_VERSION == 3, "exports.map has a node for each version, meson.build the names");
