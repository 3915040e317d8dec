package keyfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/keyfile"
)

// A key is never written over by accident, and never used once others could have read it.
func Example() {
	folder, err := os.MkdirTemp("", "keys-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "key.pem")
	fmt.Println(keyfile.CreatePair(file, []byte("first"), file+".pub", []byte("its half")))
	fmt.Println(keyfile.CreatePair(file, []byte("second"), file+".pub", []byte("its half")) != nil)
	fmt.Println(keyfile.Replace(file, []byte("third"), keyfile.PrivateMode), keyfile.CheckClosed(file))

	if err := os.Chmod(file, 0o640); err != nil {
		panic(err)
	}
	fmt.Println(keyfile.CheckClosed(file) != nil)
	// Output:
	// <nil>
	// true
	// <nil> <nil>
	// true
}
