// Package cause says in words for a person why something failed. An error of the system or of the standard library names an
// operation of Go and a number of the system ("open /data/key: permission denied"); [Of] names the thing and what is wrong
// with it ("this user may not use /data/key").
package cause
