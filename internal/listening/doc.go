// Package listening hears any AAEP producer in the terminal: [Port] is the other side of an internal/surface/terminal. It
// numbers the questions of a producer that does not, says how they ended as far as that is known, sends the person's answers, and judges
// what comes ([Verdict]).
//
// An answer counts as recorded here only when the producer has gone on from the question: that an answer was sent says nothing.
package listening
