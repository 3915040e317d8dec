// Package report says what became of the rules of AAEP when a running peer was judged: the verdicts of package
// producer and of package subscriber, and the forms in which people and CI servers read them.
//
// An exam keeps an [Evidence]: which rules came up, and what was found to break them. At its end it sorts them by the
// catalogue into a [Report], which writes itself as text, JSON, JUnit XML or one accessible page.
//
// A [Verdict] is kept, broken, or not exercised, because nothing came that the rule is about. Kept says that a rule was
// not seen to be broken, and no more.
//
// The package is pure: it knows no clock and no connection.
package report
