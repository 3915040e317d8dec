package earshot_test

import (
	"errors"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/cause"
)

// prefixed finds the text of an error that begins with a name and a colon.
var prefixed = regexp.MustCompile(`(?:Errorf|errors\.New)\("([a-z]\w*): `)

// TestNoPackageInMessages: an error may begin with the name of its package, for those who read the code; people never see it.
func TestNoPackageInMessages(t *testing.T) {
	t.Parallel()
	report(t, eachFile(t, os.DirFS("."), func(name, text string) []string {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		var found []string
		for _, m := range prefixed.FindAllStringSubmatch(text, -1) {
			if m[1] == path.Base(path.Dir(name)) && cause.Of(errors.New(m[1]+": it is so")) != "it is so" {
				found = append(found, name+": people would see the package "+m[1]+"; add it to the names in internal/cause")
			}
		}
		return found
	}))
}
