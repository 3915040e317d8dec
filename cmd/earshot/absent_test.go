package main_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestAbsent: what a command is asked for and is not there fails with exit code 1, whatever it is, and the hint has the similar name. A
// question that is not open is too late: 3. A word of the program itself, such as a host, is the command line's: 2.
func TestAbsent(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up()
	s.does(0, "token", "add", "phone", "--role", "listener")
	s.does(0, "credential", "add", "counter", "--role", "agent")
	for _, tt := range []struct {
		exit     int
		command  string
		expected []string
	}{
		{1, "tools show files.scna", []string{`no tool is called "files.scna"`, "did you mean files.scan? See `earshot tools list`"}},
		{1, "tools review files.scna", []string{"did you mean files.scan?"}},
		{1, "tools review flies.*", []string{`the service "flies" has no tools`, "did you mean files?"}},
		{1, "tools rm files.scna", []string{"did you mean files.scan?"}},
		{1, "tools call files.scna {}", []string{"did you mean files.scan?"}},
		{1, "tools show nothing", []string{"hint: see `earshot tools list`"}},
		{1, "agents show nothing", []string{"has no definition"}},
		{1, "agents rm nothing --digest 0", []string{"has no definition"}},
		{1, "run tidi {}", []string{"did you mean tidy?"}},
		{1, "turns show turn_0", []string{"there is no turn or session called turn_0"}},
		{1, "erase turn_0", []string{"there is no turn or session called turn_0"}},
		{1, "cards list turn_0", []string{"there is no turn or session called turn_0"}},
		{1, "boxes show nothing", []string{"no box has the id"}},
		{1, "dead show 9", []string{"no message was put aside"}},
		{1, "passkeys revoke nothing", []string{"there is no passkey"}},
		{1, "permissions revoke 99", []string{"there is no standing permission 99"}},
		{1, "stop sess_0", []string{`no session "sess_0" is under way`}},
		{1, "token revoke phnoe", []string{"there is no token named phnoe", "did you mean phone?"}},
		{1, "credential revoke conuter --role agent", []string{"there are no credentials of agent/conuter", "did you mean counter?"}},
		{1, "logins end ffff", []string{"no login begins with"}},
		{1, "mcp login nothing", []string{"there is no MCP server of the name nothing"}},
		{1, "mcp logout nothing", []string{"there is no login at nothing"}},
		{1, "mcp rm nothing", []string{"there is no MCP server of the name nothing"}},
		{3, "reply 99 accept", []string{"there is no open question 99"}},
		{3, "extend 99", []string{"there is no open question 99"}},
		{3, "pending 99", []string{"there is no open question 99"}},
		{3, "stop 99", []string{"there is no open question 99"}},
		{2, "install claud", []string{"did you mean claude?"}},
		{2, "hook claud", []string{"did you mean claude?"}},
		{2, "doctor agents claud", []string{"did you mean claude?"}},
	} {
		words := strings.Fields(tt.command)
		contains(t, s.does(tt.exit, words[0], words[1:]...), tt.expected...)
	}
	if list := s.does(0, "turns", "list"); !strings.Contains(list, "There are no turns.") {
		t.Errorf("a turn was begun for what is not there: %s", list)
	}
}

// TestAbsentSession: the session that is meant is named.
func TestAbsentSession(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up()
	begun := s.starts(s.dials())
	s.awaitQuestion(1)
	typed := begun[:len(begun)-1]
	contains(t, s.does(1, "stop", typed), `no session "`+typed+`" is under way`, "did you mean "+begun+"?")
	contains(t, s.does(1, "run", "--resume", typed, "--no-input"), `there is no unfinished session "`+typed+`"`, "did you mean "+begun+"?")
	for _, c := range []string{"turns show ", "cards list ", "erase "} {
		contains(t, s.does(1, strings.Fields(c)[0], strings.Fields(c + typed)[1:]...), "there is no turn or session called "+typed, "did you mean "+begun+"? See `earshot turns list`")
	}
	contains(t, s.does(1, "erase", begun, typed), "there is no turn or session called "+typed, "did you mean "+begun+"?")
	contains(t, s.does(1, "cards", "show", begun), "there is no card called "+begun, "see `earshot cards list "+begun+"`")
	s.does(0, "stop", begun)
	contains(t, s.does(3, "stop", begun), "has ended already")
}
