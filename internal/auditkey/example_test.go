package auditkey_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/auditkey"
)

// A head that is signed can lie anywhere; its public key shows later that nobody has changed it.
func Example() {
	folder, err := os.MkdirTemp("", "keys-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "heads.pem")
	if err := auditkey.Make(file); err != nil {
		panic(err)
	}
	key, err := auditkey.Private(file)
	if err != nil {
		panic(err)
	}
	link := strings.Repeat("0f", 32)
	signed := audit.Sign(key, audit.Head{N: 7, Link: link}, link, time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC))
	head, err := auditkey.Head(signed.String(), file+".pub")
	fmt.Println(head.N, err)

	fmt.Println(auditkey.Outside(folder, file) != nil)
	// Output:
	// 7 <nil>
	// true
}
