package fakemodel_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/internal/testkit/fakemodel"
)

// TestOffScript: what does not go by the script is refused, and the test is told what was asked.
func TestOffScript(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script fakemodel.Script
		asks   int
		want   string // "" is none
	}{
		"as written":      {fakemodel.Texts("One.", "Two."), 2, ""},
		"one too many":    {fakemodel.Texts("One."), 2, `the script has ended after 1 turns, and there was another anthropic request of model "claude-opus" with 2 messages and 3 tools; new: "Hello.\nIt is Tuesday.\n"`},
		"one too few":     {fakemodel.Texts("One.", "Two."), 1, "nobody asked for turn 2 of the script"},
		"condition":       {fakemodel.Script{{When: "Good night", Say: "One."}}, 1, `turn 1: expected "Good night" in what is new to the model, found "Hello.`},
		"either, first":   {fakemodel.Script{{Either: []fakemodel.Turn{{When: "Hello"}, {When: "Bye"}}}}, 1, ""},
		"either, second":  {fakemodel.Script{{Either: []fakemodel.Turn{{When: "Bye"}, {}}}}, 1, ""},
		"either, neither": {fakemodel.Script{{Either: []fakemodel.Turn{{When: "Bye"}, {When: "Yes"}}}}, 1, `expected "Bye" or "Yes"`},
		"no such tool":    {fakemodel.Script{{Call: []fakemodel.Call{{Tool: "write"}}}}, 1, `calls "write", which is not offered; offered: Bash, mcp__files__read, mcp__mail__read`},
		"part of a word":  {fakemodel.Script{{Call: []fakemodel.Call{{Tool: "ead"}}}}, 1, `"ead", which is not offered`},
		"two such tools":  {fakemodel.Script{{Call: []fakemodel.Call{{Tool: "read"}}}}, 1, "can mean 2 of the tools offered (mcp__files__read, mcp__mail__read)"},
		"one of the two":  {fakemodel.Script{{Call: []fakemodel.Call{{Tool: "mail/read"}}}}, 1, ""},
		"aside":           {fakemodel.Script{{Aside: "Be kind.", Say: "A title"}}, 3, ""},
		"other aside":     {fakemodel.Script{{Aside: "Be cruel.", Say: "A title"}}, 1, "the script has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := fakemodel.New(tt.script)
			server := httptest.NewServer(model)
			defer server.Close()
			status := 0
			for range tt.asks {
				status, _, _ = clients[0].ask(t, server.URL, true)
			}
			err := model.Err()
			if tt.want == "" && (err != nil || status != http.StatusOK) {
				t.Errorf("found status %d and %v, expected none", status, err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("found %v\nexpected %s", err, tt.want)
			}
			if tt.want != "" && tt.asks == len(tt.script) && status != http.StatusBadRequest {
				t.Errorf("found status %d, expected a bad request, which clients do not try again", status)
			}
		})
	}
}

// TestGates: an answer waits before it begins, and a streamed one half-way, until the test opens the gates.
func TestGates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		synctest.Test(t, func(t *testing.T) {
			model := fakemodel.New(fakemodel.Script{{Wait: "begin", Pause: "go on", Say: "Good morning, Ada."}})
			answer, done := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(done)
				model.ServeHTTP(answer, c.request(stream))
			}()
			synctest.Wait()
			if answer.Body.Len() > 0 || len(model.Requests()) != 1 {
				t.Errorf("found %q before the gate was opened", answer.Body)
			}
			model.Open("begin")
			synctest.Wait()
			if text := answer.Body.String(); stream && (text == "" || strings.Contains(text, "Ada.")) {
				t.Errorf("found %q, expected half of the answer", text)
			}
			model.Open("go on")
			<-done
			if text := answer.Body.String(); !strings.Contains(text, "Ada.") {
				t.Errorf("found %q, expected all of the answer", text)
			}
		})
	})
}

// TestPause: half of a streamed answer is there while the gate is shut, and a client may leave.
func TestPause(t *testing.T) {
	t.Parallel()
	model := fakemodel.Start(t, fakemodel.Script{{Pause: "never", Say: "Good morning, Ada."}})
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, model.URL+clients[2].path, strings.NewReader(strings.ReplaceAll(clients[2].body, "STREAM", "true")))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	begun := make([]byte, 200)
	if _, err := io.ReadFull(response.Body, begun); err != nil || !strings.Contains(string(begun), "chat.completion.chunk") {
		t.Errorf("found %q (%v), expected the first events", begun, err)
	}
	leave()
	if rest, err := io.ReadAll(response.Body); err == nil || strings.Contains(string(rest), "[DONE]") {
		t.Errorf("found %q, expected the end to be missing", rest)
	}
}

// TestCut: the connection breaks in the middle of an answer, which the client then asks for again.
func TestCut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		model := fakemodel.Start(t, fakemodel.Script{{Cut: true, Say: "Good morning, Ada."}, {Say: "Good morning, Ada."}})
		asked := c.request(stream)
		response, err := http.Post(model.URL+asked.URL.String(), "application/json", asked.Body)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if err == nil {
			t.Error("found a whole answer, expected it to break")
		}
		if h := c.turn(t, model.URL, stream); h.Text != "Good morning, Ada." {
			t.Errorf("found %+v", h)
		}
	})
}

// TestBeside: what clients ask besides answers of the model.
func TestBeside(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Script{})
	server := httptest.NewServer(model)
	defer server.Close()
	for _, path := range []string{"/v1/messages/count_tokens", "/v1beta/models/m:countTokens"} {
		if status, _, raw := post(t, server.URL+path, strings.NewReader("{}")); status != http.StatusOK || !strings.Contains(string(raw), "10") {
			t.Errorf("%s: found status %d: %s", path, status, raw)
		}
	}
	response, err := http.Get(server.URL + "/v1/models")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("found %v (%v)", response, err)
	}
	_ = response.Body.Close()
	if err := model.Err(); err != nil {
		t.Error(err)
	}
	if status, _, _ := post(t, server.URL+"/v1/embeddings", strings.NewReader("{}")); status != http.StatusNotFound {
		t.Errorf("found status %d, expected 404", status)
	}
	if err := model.Err(); err == nil || !strings.Contains(err.Error(), "found POST /v1/embeddings") {
		t.Errorf("found %v, expected it to be named", err)
	}
}

// TestRaw: arguments byte for byte, also those that are not JSON.
func TestRaw(t *testing.T) {
	t.Parallel()
	model := fakemodel.Start(t, fakemodel.Script{{Call: []fakemodel.Call{{Tool: "Bash", Raw: `{"command": "a", "command": `}}}})
	if h := clients[0].turn(t, model.URL, true); h.Calls[0].Args != `{"command": "a", "command": ` {
		t.Errorf("found %+v", h.Calls)
	}
}

// TestRequestMissing: who waits for a request that does not come is told how many came.
func TestRequestMissing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := fakemodel.New(fakemodel.Texts("One.")).Request(ctx, 1)
	if err == nil || !strings.Contains(err.Error(), "found 0 requests of the model, expected 1") {
		t.Errorf("found %v", err)
	}
}
