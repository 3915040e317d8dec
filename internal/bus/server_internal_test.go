package bus

import (
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// TestAnswersFromTheStart: the server listens for the kernel's answers before anybody can ask. It begins to with the first request, so that
// the answer to a second one, made at the same time, was lost.
func TestAnswersFromTheStart(t *testing.T) {
	t.Parallel()
	first, err := Start(t.Context(), Options{Project: "home"})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	further, err := first.Share(t.Context(), Options{Project: "work"})
	if err != nil {
		t.Fatal(err)
	}
	defer further.Close()
	for _, s := range []*Server{first, further} {
		heard, err := s.host.nats.Subsz(&server.SubszOptions{Subscriptions: true, Account: s.now().kernel.Name})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(heard.Subs, func(sub server.SubDetail) bool { return strings.HasPrefix(sub.Subject, answerPrefix) }) {
			t.Errorf("project %s: nobody listens for answers: %v", s.options.Project, heard.Subs)
		}
	}
}

// TestSignInTime: a process that a loaded machine does not let run for a while is not turned
// away, as anyone who has a wrong password is.
func TestSignInTime(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"", "127.0.0.1:0"} {
		settings, err := serverOptions(Options{Listen: listen}.withDefaults(), &plan{})
		if settings.WriteDeadline < stallTime {
			t.Errorf("%q: cut after %s", listen, settings.WriteDeadline)
		}
		if err != nil || settings.AuthTimeout < defaultTimeout.Seconds() {
			t.Errorf("%q: %v s to sign in, %v; a client waits for %s", listen, settings.AuthTimeout, err, defaultTimeout)
		}
	}
}
