// Package tidy plans the removal of duplicate files. It is an agent without a model: a fold over the results of its calls.
//
// A [Planner] is asked for its [Move], the calls of that move are carried out by anyone who holds the planner, and their
// results are fed back. The same results lead to the same next move, so a turn that was interrupted is continued by
// feeding its recorded results to a new planner. It reads no file, keeps no clock and asks nobody: consent is the
// business of anyone who dispatches the one call that removes something.
//
// The moves are: the pages of files.scan; files.hash of every file whose size occurs more than once; one single
// files.delete (or files.trash) for the whole list; and an [Answer]. The survivor of equal files is the one whose
// relative path is smallest, byte by byte.
package tidy
