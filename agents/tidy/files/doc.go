// Package files finds, compares and removes files inside folders that an operator allowed.
//
// It is the working part of the tool service "files": [Service.Scan] lists a tree page by page,
// [Service.Hash] reads content, [Service.Delete] and [Service.Trash] remove duplicates whose survivor is
// shown to be whole at that moment, and [Service.Reconcile] says after a crash what became of a call.
// It knows nothing of NATS or of the kernel: anyone who binds it to a tool SDK passes the call id and the clock check.
//
// # What a removal promises
//
// A file is removed only if, in this order, it is still what the arguments say (place, kind, size, SHA-256), its
// survivor is another file with the same content that no list of the call names, it has been moved out of everybody's
// way into a private folder, it has been read again there, and the survivor has been looked at once more. The victim
// is moved before the last look at the survivor, so of two calls that name each other's survivors at least one gives way.
// Anything else puts the file back, never over something that appeared meanwhile.
//
// # The journal
//
// Each call writes one file of JSON lines outside the tree, locked while the call runs. "before" is on the disk before an item is
// touched, together with the "after" of the one before it; "leave" is written when nothing but the removal itself is left.
// After a crash at most the item in flight has to be looked for, and it is nearly always found.
//
// That a journal is missing proves little: somebody may have removed it. So the folder of the journals holds a mark, made
// with it, that says since when it is complete, and [Service.Reconcile] says of a call without a journal that it did not begin only if the
// call is younger than the mark, and has no private folder. Everything else is unknown, and stays so. What cannot be told this way is
// that single journals were removed while the mark was left.
//
// A file that a dead process left in its private folder goes back to its place, or is named if that is taken or gone; a scan
// counts such folders as unfinished.
//
// Every access goes through [os.Root], parents are opened one by one without following links, and whatever is opened is
// compared with what was looked at. Link counts, inode numbers and locks are needed, so [New] refuses on systems without them.
package files
