// Package cause explains to a person why something failed. An error of the system or of the standard library names an
// operation of Go and the text of an errno ("open /data/key: permission denied"); [Of] names the thing and the problem
// with it ("this user may not use /data/key").
package cause
