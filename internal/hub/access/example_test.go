package access_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

func Example() {
	dir, err := os.MkdirTemp("", "access")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := access.Open(access.Options{Path: filepath.Join(dir, "tokens.json")})
	if err != nil {
		fmt.Println(err)
		return
	}
	secret, _, err := store.Add(access.NewToken{Name: "braille", Person: "ann", Roles: []access.Role{access.Listener}})
	if err != nil {
		fmt.Println(err)
		return
	}
	who, err := store.Authenticate(secret)
	fmt.Println(who.Name, who.Surface, who.Hears("ann"), who.Hears("bob"), who.Approves("ann"), err)
	// Output: ann braille true false false <nil>
}
