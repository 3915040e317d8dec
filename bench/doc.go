// Package bench holds the measurements of whole programs, in a module of its own so
// that what they need never reaches a user. docs/performance.md says how each is run.
package bench
