package narrate_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// shipped are the tools that the program comes with, as an operator has them.
func shipped(t *testing.T) map[string]store.Tool {
	t.Helper()
	all, err := tidy.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]store.Tool{}
	for _, d := range all {
		tools[d.Tool] = store.Tool{Definition: d, Digest: "d_" + d.Tool, Reviewed: true, Class: d.Class, Risk: d.Risk}
	}
	return tools
}

// TestShippedResults: what tidy's tools have done is told with the totals of all batches, and without zeros.
func TestShippedResults(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		tool   string
		status utp.Status
		result string
		want   string
	}{
		{"files.scan", utp.StatusSuccess, `{"files":[{"path":"a","size":1}],"next":"","skipped":{},"listed":1}`, "Found 1 file."},
		{"files.scan", utp.StatusSuccess, `{"files":[],"next":"","skipped":{},"listed":0}`, "Found no files."},
		{"files.scan", utp.StatusSuccess, `{"files":[{"path":"b","size":1}],"next":"b","skipped":{},"listed":1200}`, "Found 1,200 files so far."},
		{"files.scan", utp.StatusSuccess, `{"files":[{"path":"c","size":1}],"next":"","skipped":{},"listed":1201}`, "Found 1,201 files."},
		{"files.hash", utp.StatusSuccess, `{"hashes":[],"refused":[],"compared":1000,"left":500}`, "Compared the content of 1,000 files so far, 500 to go."},
		{"files.hash", utp.StatusSuccess, `{"hashes":[],"refused":[],"compared":1500,"left":0}`, "Compared the content of 1,500 files."},
		{"files.hash", utp.StatusSuccess, `{"hashes":[],"refused":[],"compared":0,"left":0}`, "Compared the content of no file."},
		{"files.delete", utp.StatusSuccess, `{"deleted":2,"bytes":12,"refused":[],"unclear":[],"not_reached":0}`, "Deleted 2 files and freed 12 bytes."},
		{"files.delete", utp.StatusPartial, `{"deleted":2,"bytes":12,"refused":[],"unclear":[],"not_reached":4}`, "Deleted 2 files and freed 12 bytes; 4 files were not reached."},
		{
			"files.delete", utp.StatusPartial, `{"deleted":0,"bytes":0,"refused":[{"path":"a","code":"changed"}],"unclear":[],"not_reached":0}`,
			"Nothing was deleted; 1 file was left alone.",
		},
		{
			"files.delete", utp.StatusPartial, `{"deleted":1,"bytes":5,"refused":[{"path":"a","code":"changed"},{"path":"b","code":"changed"}],"unclear":["c"],"not_reached":1}`,
			"Deleted 1 file and freed 5 bytes; 2 files were left alone; of 1 file it is not clear whether it is gone; 1 file was not reached.",
		},
		{"files.trash", utp.StatusPartial, `{"deleted":2,"bytes":12,"refused":[],"unclear":["c","d"],"not_reached":0}`, "Moved 2 files (12 bytes) to the trash; of 2 files it is not clear whether they are gone."},
		{"files.trash", utp.StatusPartial, `{"deleted":0,"bytes":0,"refused":[],"unclear":[],"not_reached":3}`, "Nothing was moved to the trash; 3 files were not reached."},
	} {
		s := newStage(t)
		s.tools = shipped(t)
		args := jsontext.Value(`{"root":"/home/anna","paths":["a"]}`)
		if s.tools[row.tool].Class != utp.Read {
			args = deleteArgs
		}
		s.claim()
		c := s.call(row.tool, args)
		s.step(c)
		if c.Class != utp.Read {
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
		}
		s.start(c.ID)
		s.finish(c.ID, row.status, "", row.result)
		if script := s.script(); !strings.Contains(script, " "+row.want+"\n") {
			t.Errorf("%s, %s: no line ends in %q:\n%s", row.tool, row.result, row.want, script)
		}
	}
}
