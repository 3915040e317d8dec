package fakemodel_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/earshot-dev/earshot/internal/fakemodel"
)

// A client that speaks Chat Completions asks once, and the model calls the tool that it offers.
func Example() {
	script, err := fakemodel.Parse([]byte(`
turns:
  - call:
      - tool: read_file
        args: {path: note.txt}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := fakemodel.New(script)
	server := httptest.NewServer(model) // in a test: fakemodel.Start(t, script)
	defer server.Close()

	response, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"any","messages":[{"role":"user","content":"Read the note."}],"tools":[{"type":"function","function":{"name":"mcp__files__read_file"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	answer, _ := io.ReadAll(response.Body)

	fmt.Println("called:", strings.Contains(string(answer), `"name":"mcp__files__read_file"`))
	fmt.Println("asked:", model.Requests()[0].Messages[0].Text)
	fmt.Println("off script:", model.Err())
	// Output:
	// called: true
	// asked: Read the note.
	// off script: <nil>
}
