package operate_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/operate"
)

// An export says at its end how many lines it has, so that an import knows one that was cut off.
func Example() {
	ctx := context.Background()
	empty := func(_ context.Context, op string, _, answer any) error {
		if op == api.OpSessions {
			*answer.(*[]api.SessionRow) = nil
		}
		return nil
	}
	var file bytes.Buffer
	n, err := operate.Export(ctx, empty, &file, nil, time.Unix(0, 0), func(int) {})
	fmt.Println(n.Turns, n.Lines, err)
	cut := strings.SplitAfter(file.String(), "\n")[0]
	_, err = operate.Import(ctx, empty, strings.NewReader(cut), "turns.jsonl", func(int) {})
	fmt.Println(err)
	// Output:
	// 0 2 <nil>
	// the export turns.jsonl is damaged in line 2: the end is missing: it is cut off, or was not written whole. Nothing was imported
}
