// Package tidy plans the removal of duplicate files. It is an agent without a model: a fold over the results of its
// calls.
//
// The owner of a [Planner] asks it for its [Move], makes the calls of that move, and passes their results back. The
// same results lead to the same next move, so a turn that was interrupted continues after its recorded results are
// passed to a new planner. The planner reads no file, has no clock and asks nobody for consent: the one who dispatches the
// one call that removes something does that.
//
// The moves are: the pages of files.scan; files.hash of every file whose size occurs more than once; one single
// files.delete (or files.trash) for the whole list; and an [Answer]. The survivor of equal files is the one with the
// smallest relative path, compared byte by byte.
package tidy
