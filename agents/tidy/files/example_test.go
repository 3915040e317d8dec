//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// Two equal files are found, compared and reduced to one.
func Example() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	root, err := files.Resolve(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("hello"), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	allowed, err := files.Allow(root)
	if err != nil {
		log.Fatal(err)
	}
	service, err := files.New(files.Options{Allowed: allowed, Journal: filepath.Join(root, "journal")})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	page, err := service.Scan(ctx, files.ScanArgs{Root: root})
	fmt.Println(len(page.Files), page.Skipped, err)

	hashed, err := service.Hash(ctx, files.HashArgs{Root: root, Paths: []string{"a.txt", "b.txt"}}, nil)
	fmt.Println(hashed.Hashes[0].SHA256 == hashed.Hashes[1].SHA256, err)

	args := files.DeleteArgs{Root: root, Sets: []files.Set{
		{SHA256: hashed.Hashes[0].SHA256, Size: 5, Survivor: "a.txt", Delete: []string{"b.txt"}},
	}}
	result, err := service.Delete(ctx, args, files.CallOptions{Call: "tc_1"})
	fmt.Println(result.Deleted, result.Bytes, err)

	outcome, again, err := service.Reconcile(ctx, "tc_1", args)
	fmt.Println(outcome, again.Deleted, err)

	// Output:
	// 2 map[private:1] <nil>
	// true <nil>
	// 1 5 <nil>
	// done 1 <nil>
}
