package server

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestProjectFails: a project whose ledger fails ends alone. The operator is told, its programs get unavailable, and it is served again when
// the list is read the next time.
func TestProjectFails(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	data, told := t.TempDir(), make(chan string, 16)
	if _, _, err := projectfile.Add(data, projectfile.Project{Name: "billing"}); err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), Options{
		Data: data, HTTP: "127.0.0.1:0", Notice: func(line string) { told <- line },
		OpenProject: func(string, string, string) (Options, error) { return Options{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	billing := s.Project("billing")
	o := client.Options{URL: billing.URL(), Token: billing.Token()}
	if _, err := client.Dial(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	billing.instance.Fail(errors.New("the disk is full"))
	if line := <-told; !strings.HasPrefix(line, "Project billing is not served any more: the disk is full") {
		t.Errorf("the operator is told %q", line)
	}
	if _, err := client.Dial(t.Context(), o); err == nil || !strings.Contains(err.Error(), "not served at the moment") {
		t.Errorf("a program of it: %v", err)
	}
	own, err := client.Dial(t.Context(), client.Options{URL: s.URL(), Token: s.PersonToken()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.RereadProjects(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := s.Project("billing"); again == nil || again == billing {
		t.Errorf("it is %v, before %v", again, billing)
	}
}

// TestProjectsOpenSideBySide: a project whose database does not answer keeps neither the server nor another project from serving. It is
// said why it is not served, and the end of the server does not wait for it: its database has a day to answer, more than a test has.
func TestProjectsOpenSideBySide(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // takes connections, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // nobody needs it any more
	data := t.TempDir()
	for _, name := range []string{"alone", "billing", "sales"} {
		if _, _, err := projectfile.Add(data, projectfile.Project{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(t.Context(), Options{
		Data: data, HTTP: "127.0.0.1:0",
		OpenProject: func(name, _, _ string) (o Options, err error) {
			if name == "alone" {
				o.Ledger = "postgres://earshot@" + silent.Addr().String() + "/earshot?sslmode=disable&connect_timeout=86400"
			}
			return o, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"billing", "sales"} {
		if s.Project(name) == nil {
			t.Errorf("%s is not served", name)
		}
	}
	own, err := client.Dial(t.Context(), client.Options{URL: s.URL(), Token: s.PersonToken()})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := own.Projects(t.Context())
	if err != nil || len(answer.Projects) != 3 {
		t.Fatalf("the projects are %+v, %v", answer, err)
	}
	if first := answer.Projects[0]; first.Name != "alone" || first.Trouble == "" || first.Hint == "" || answer.Projects[1].Trouble != "" {
		t.Errorf("the projects are %+v", answer.Projects)
	}
}
