// Package outline lays the arguments of a call out for the person who is asked about them: every
// value in full, under the name that it has, up to a bound ([MaxValues], [MaxCharacters]). What
// exceeds the bound is counted, and named by its size and its SHA-256, so that nobody takes a part
// for the whole: [Outline.Complete] says whether a yes can be about what is listed.
//
// A secret is a reference to a value that is kept elsewhere; it is said to be there, and never shown. A text
// whose name says that it is a credential is masked, because what is listed here is read aloud and
// logged; since that is a guess, it counts as not listed. A list that the tool's reviewed
// definition stands for by its own sentence ([Options.Covers]) is stated by its count, size and SHA-256.
//
// The package is pure, and knows nothing of where arguments come from or how they are shown.
package outline
