package credentialfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/credentialfile"
)

// A tool service is let in, and nobody else can have the names of its tools.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	dir := credentialfile.Dir{Path: filepath.Join(folder, credentialfile.Folder), Project: "default"}

	change, err := dir.Add(bus.Principal{Kind: bus.Tool, Name: "words"}, nil)
	if err != nil {
		panic(err)
	}
	if err := change.Write(); err != nil {
		panic(err)
	}
	_, err = dir.Add(bus.Principal{Kind: bus.Tool, Name: "letters"}, []string{"words.count"})
	fmt.Println(err)
	// Output: the tool words.count is a name of tool/words
}
