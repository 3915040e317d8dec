// Package files finds, compares and removes files inside folders that an operator allowed.
//
// It implements the tool service "files". [Service.Scan] lists a tree page by page, and [Service.Hash] reads content.
// [Service.Delete] and [Service.Trash] remove duplicates whose survivor is verified to be intact at that moment.
// [Service.Reconcile] finds out the outcome of a call after a crash. The package does not depend on NATS or the kernel:
// the tool SDK's binding passes the call id and the clock check.
//
// # What a removal promises
//
// A file is removed only after these checks, in this order. It is still what the arguments say (place, kind, size,
// SHA-256). Its survivor is another file with the same content that no list of the call names. The file has been moved
// into a private folder and read again there. The survivor has been checked once more. The file is moved before the
// last check of the survivor, so of two calls that name each other's survivors at least one gives way. Otherwise the
// file is restored, but never over something that appeared meanwhile.
//
// # The journal
//
// Each call writes one file of JSON lines outside the tree, locked while the call runs. "before" is on the disk before
// an item is touched, together with the "after" of the previous one; "leave" is written when only the removal itself is
// left. After a crash at most one item has to be looked for, and it is nearly always found.
//
// A missing journal proves little, because it may have been removed. So the folder of the journals contains a mark,
// created with it, that says since when it is complete. [Service.Reconcile] reports that a call without a journal did
// not begin only if the call is younger than the mark, and has no private folder. Every other outcome is unknown, and
// remains so. This does not detect that single journals were removed while the mark was left.
//
// A file that a dead process left in its private folder is restored to its place, or is named if that is taken or gone;
// a scan counts such folders as unfinished.
//
// Every access goes through [os.Root], parents are opened one by one without following links, and whatever is opened is
// compared with what was checked. Link counts, inode numbers and locks are required, so [New] refuses on systems
// without them.
package files
