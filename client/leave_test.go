package client_test

import (
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/utp"
)

// TestPermissionAfterALostConnection: a program that withdraws its question by leaving asks again with the same key when the connection
// is lost, and gets the answer to the same question, or hears that it was withdrawn.
func TestPermissionAfterALostConnection(t *testing.T) {
	t.Parallel()
	const waiting = `{"call_id":"tc_1","tool":"Bash","state":"waiting","question":1}`
	for name, tt := range map[string]struct {
		answers []string // "" loses the connection
		sent    []string
		want    api.AgentCall
	}{
		"before the first answer": {
			[]string{"", "", `{"call_id":"tc_1","tool":"Bash","state":"ended","status":"success","joined":true}`},
			[]string{"POST key", "POST key", "POST key"},
			api.AgentCall{Status: utp.StatusSuccess},
		},
		"while it waits": {
			[]string{waiting, "", waiting, `{"call_id":"tc_1","tool":"Bash","state":"ended","status":"success"}`},
			[]string{"POST key", "GET ", "GET ", "GET "},
			api.AgentCall{Status: utp.StatusSuccess},
		},
		"too late": {
			[]string{"", `{"call_id":"tc_1","tool":"Bash","state":"ended","status":"canceled","code":"consent_withdrawn","joined":true}`},
			[]string{"POST key", "POST key"},
			api.AgentCall{Status: utp.StatusCanceled, Code: utp.CodeConsentWithdrawn},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var sent []string
				agent, err := client.DialAgent(t.Context(), client.Options{URL: "http://127.0.0.1:7411", Token: "t", Transport: within{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/api/v1/agent/tools":
						_, _ = io.WriteString(w, `{"tools":[]}`)
						return
					case "/api/v1/agent/sessions":
						_, _ = io.WriteString(w, `{"session_id":"sess_1"}`)
						return
					}
					if got := r.URL.Query().Get("leave"); got != "withdraw" {
						t.Errorf("leave is %q", got)
					}
					sent = append(sent, r.Method+" "+r.Header.Get("Idempotency-Key"))
					answer := tt.answers[len(sent)-1]
					if answer == "" {
						w.WriteHeader(http.StatusBadGateway)
					}
					_, _ = io.WriteString(w, answer)
				})}})
				if err != nil {
					t.Fatal(err)
				}
				session, err := agent.Open(t.Context(), api.AgentOpen{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := session.WithdrawOnLeave().Permission(t.Context(), api.AgentPermission{Tool: "Bash", Input: jsontext.Value(`{}`), Key: "key"})
				if err != nil || !got.Ended() || got.Status != tt.want.Status || got.Code != tt.want.Code {
					t.Errorf("%+v, %v", got, err)
				}
				if !slices.Equal(sent, tt.sent) {
					t.Errorf("sent %q; expected %q", sent, tt.sent)
				}
			})
		})
	}
}
