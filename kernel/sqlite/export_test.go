package sqlite

import "github.com/earshot-dev/earshot/kernel"

// Kind is what a result code means.
var Kind = kind

// Border is how errors of the driver become ours.
var Border = border

// Pragma reads or sets one on the connection of a transaction.
func Pragma(t kernel.Tx, text string) (value string, err error) {
	err = t.(*tx).c.one("PRAGMA "+text, nil, &value)
	return value, err
}
