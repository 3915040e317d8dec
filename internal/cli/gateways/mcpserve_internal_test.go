package gateways

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/datadir"
)

// TestWhereToAnswer: a host learns the page's address only where the operator has named it; its random name is a secret.
func TestWhereToAnswer(t *testing.T) {
	secret := "http://" + strings.Repeat("0a", 16) + ".localhost:7411"
	for _, test := range []struct{ name, page, want string }{
		{"a random name", secret, "http://127.0.0.1:7411/"},
		{"named by the operator", "https://earshot.example.org", "https://earshot.example.org"},
		{"localhost", "http://localhost:7411", "http://localhost:7411"},
		{"none", "", "http://127.0.0.1:7411/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := t.TempDir()
			text := fmt.Sprintf(`{"url":"http://127.0.0.1:7411","page":%q,"pid":1,"token":"hidden"}`, test.page)
			if err := os.WriteFile(filepath.Join(data, datadir.ServerFile), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := whereToAnswer(data); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := whereToAnswer(t.TempDir()); got != "" {
		t.Errorf("without a server it is %q", got)
	}
}
