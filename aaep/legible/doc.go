// Package legible writes text so that anyone who reads it, by eye, by ear or by finger, can
// trust what it shows. Characters that act instead of showing (controls, escapes, changes of
// direction) or that cannot be seen are written as their names, <U+202E>; a value from
// elsewhere is set apart, so that it can neither reorder nor imitate the sentence around it.
//
// Every surface uses it, so a hidden character has the same name on a terminal, on a page
// and in speech. It is pure, and knows English numbers only.
package legible
