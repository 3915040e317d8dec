package operate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// TestImportOfLargeRecords: a turn whose own record is larger than what is usually sent at once, as
// its arguments may be, goes in with it first; nothing is sent that is empty but the last.
func TestImportOfLargeRecords(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", api.InlineLimit)
	path := filepath.Join(t.TempDir(), "turns.jsonl")
	lines := fmt.Sprintf(`{"turn":{"turn_id":"turn_1","session_id":"sess_1","request":%q}}
{"card":{"large":%q}}
{"receipt":{"question":1}}
`, large, large)
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var sent []int
	s := &importSender{ctx: t.Context(), ask: func(_ context.Context, _ string, request, _ any) error {
		q, is := request.(api.ImportRequest)
		if !is || q.Turn != "turn_1" {
			t.Errorf("asked for %+v", request)
		}
		sent = append(sent, len(q.Records))
		return nil
	}}
	if err := eachLine(file, path, s.line); err != nil {
		t.Fatal(err)
	}
	if err := s.next(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sent); got != "[1 1 1]" {
		t.Errorf("the records went in as %s", got)
	}
}
