package datadir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/datadir"
)

// One process at a time works with a data directory.
func Example() {
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(parent) }()
	d, err := datadir.Open(filepath.Join(parent, "data"))
	if err != nil {
		panic(err) // a *cause.Error, with a hint
	}
	defer d.Close()
	key, err := d.Key()
	fmt.Println(len(key), err)
	_, err = datadir.Open(d.Path)
	fmt.Println(errors.Is(err, datadir.ErrLocked))
	// Output:
	// 32 <nil>
	// true
}
