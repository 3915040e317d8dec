package utp_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// TestCheckFields: each required name once (UTP, "Result fields").
func TestCheckFields(t *testing.T) {
	t.Parallel()
	required := []string{"title", "pages"}
	for names, says := range map[string]string{
		"title pages": "", "pages title more": "", "title": "missing: pages", "": "missing: title, pages", "title title pages": "twice: title",
		"title title": "missing: pages; twice: title", "title pages more more": "twice: more",
	} {
		var fields []utp.Field
		for name := range strings.FieldsSeq(names) {
			fields = append(fields, utp.Field{Name: name, Value: jsontext.Value("1")})
		}
		err := utp.CheckFields(required, fields)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v; want %q", names, err, says)
		}
	}
	for _, bad := range [][]string{{""}, {"a", "a"}, {"a\n"}, {strings.Repeat("x", 129)}, make([]string, 65)} {
		if utp.CheckRequired(bad) == nil {
			t.Errorf("%.80q can be required", bad)
		}
	}
	if err := utp.CheckRequired(required); err != nil {
		t.Error(err)
	}
}
