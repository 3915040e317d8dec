package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
)

// browse returns what reads the page of a server and sends its forms, logged in.
func browse(t *testing.T, s *server.Server) func(method, path string, form url.Values) string {
	t.Helper()
	api, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) { // the page's name is one of browsers
			return new(net.Dialer).DialContext(ctx, network, api.Host)
		},
	}}
	t.Cleanup(browser.CloseIdleConnections)
	do := func(method, path string, form url.Values) string {
		request, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(s.Page(), "/")+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "text/html")
		if form != nil {
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v\n%s", path, response.Status, err, text)
		}
		return string(text)
	}
	code, err := s.Code()
	if err != nil {
		t.Fatal(err)
	}
	do(http.MethodPost, "/login", url.Values{"code": {code}})
	return do
}

// TestParameters: a turn with other arguments than those that an agent of the program takes does not begin, and the page has a form of them.
func TestParameters(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	agent := server.Agent{
		Agent:      clerk(),
		Parameters: jsontext.Value(`{"type":"object","required":["to"],"properties":{"to":{"type":"string","title":"Recipient"}},"additionalProperties":false}`),
	}
	s, err := server.New(t.Context(), server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", Agents: []server.Agent{agent}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := client.Dial(t.Context(), client.Options{URL: s.URL(), Token: s.Token()})
	if err != nil {
		t.Fatal(err)
	}
	for args, why := range map[string]string{
		`{}`: `"to" is missing`, `{"to":1}`: "/to: found a number, expected text", `{"to":"Ada","by":"Bob"}`: `found "by", which is not one of its members`,
	} {
		_, err := c.Start(t.Context(), api.TurnStart{Agent: "clerk", Args: jsontext.Value(args)})
		if err == nil || !strings.Contains(err.Error(), "the arguments do not fit the agent clerk: "+why+"; nothing was started") {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := c.Start(t.Context(), api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada"}`)}); err != nil {
		t.Error(err)
	}
	do := browse(t, s)
	if home := do(http.MethodGet, "/", nil); !strings.Contains(home, `href="/start/clerk"`) {
		t.Errorf("the page does not offer the form:\n%s", home)
	}
	if form := do(http.MethodGet, "/start/clerk", nil); !strings.Contains(form, "Recipient") {
		t.Errorf("the form is\n%s", form)
	}
}
