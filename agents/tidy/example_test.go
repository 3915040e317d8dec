package tidy_test

import (
	"encoding/json"
	"fmt"

	"github.com/earshot-dev/earshot/agents/tidy"
)

// A turn over three files, two of them equal. The results would come from the tool service.
func Example() {
	results := map[string]string{
		"scan-1": `{"files":[{"path":"a","size":5},{"path":"b","size":5},{"path":"c","size":7}],"next":"","skipped":{"empty":1}}`,
		"hash-1": `{"hashes":[
			{"path":"a","sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","size":5},
			{"path":"b","sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","size":5}],"refused":[]}`,
		"remove": `{"deleted":1,"bytes":5,"refused":[],"unclear":[]}`,
	}
	p := tidy.New(tidy.Args{Root: "/home/ana/notes"})
	for {
		move := p.Next()
		if move.Answer != nil {
			for _, line := range move.Answer.Lines {
				fmt.Println(line)
			}
			return
		}
		for _, call := range move.Calls {
			fmt.Printf("%d%% to %d%%: %s: %s\n", call.From, call.To, call.Tool, call.Comment)
			p.Observe(call, tidy.Result{Output: json.RawMessage(results[call.Key])})
		}
	}
	// Output:
	// 0% to 5%: files.scan: Listing the files in /home/ana/notes.
	// 10% to 70%: files.hash: Comparing the content of 2 files of equal size, 10 bytes.
	// 70% to 100%: files.delete: Deleting 1 duplicate file, 5 bytes. One file of each of 1 set stays.
	// Deleted 1 file. Freed 5 bytes.
	// Found 1 duplicate file in 1 set, 5 bytes, among 3 files.
	// Skipped: 1 empty file.
}
