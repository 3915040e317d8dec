package web_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestPermissions: who may listen lists the standing permissions, page by page.
func TestPermissions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.room.permissions = []api.StandingPermission{{Number: 3, Tool: "files.trash", Agent: "tidy", Uses: 20, Left: 19, Made: noon, Expires: noon}}
	for _, row := range []struct {
		as, query string
		code      int
		after     int
	}{
		{"ada", "", 200, 0},
		{"lis", "?after=2", 200, 2},
		{"ada", "?after=x", 400, 0},
		{"ada", "?after=-1", 400, 0},
		{"aud", "", 200, 0},
		{"bot", "", 403, 0},
		{"nobody", "", 401, 0},
	} {
		s.room.listed = nil
		w := s.do("GET", "/api/v1/permissions"+row.query, row.as, "")
		if w.Code != row.code {
			t.Errorf("%s%s: %d %s", row.as, row.query, w.Code, w.Body)
		}
		if asked := s.room.listed; (row.code == 200) != (len(asked) == 1) || len(asked) == 1 && asked[0].After != row.after {
			t.Errorf("%s%s asked the hub for %+v", row.as, row.query, asked)
		}
		if row.code == 200 {
			wants(t, w.Body.String(), `"number":3`, `"uses_left":19`)
		}
	}
}

// TestRevokePermission: an approver ends one by its number; a login on the page sends a form's token, like every act of it. The hub
// has the last word on whose it is.
func TestRevokePermission(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	for _, row := range []struct {
		as, number string
		code       int
		revoked    string
	}{
		{"ada", "3", 200, "3 by ada"},
		{"lis", "3", 403, ""},
		{"aud", "3", 403, ""},
		{"ope", "3", 403, ""},
		{"bot", "3", 403, ""},
		{"nobody", "3", 401, ""},
		{"@ada", "3", 403, ""},
		{"ada", "0", 400, ""},
		{"ada", "all", 400, ""},
		{"ada", "-3", 400, ""},
	} {
		s.room.revoked = nil
		w := s.do("POST", "/api/v1/permissions/"+row.number+"/revoke", row.as, "{}")
		if got := strings.Join(s.room.revoked, ", "); w.Code != row.code || got != row.revoked {
			t.Errorf("%s revokes %s: %d %s, revoked %q", row.as, row.number, w.Code, w.Body, got)
		}
		if row.code == 200 {
			wants(t, w.Body.String(), `"ended":"revoked"`, `"ended_by":"ada"`)
		}
	}
	s.room.fail = &web.Refusal{Kind: api.KindNotFound, Message: "there is no such thing"}
	if w := s.do("POST", "/api/v1/permissions/9/revoke", "ada", "{}"); w.Code != 404 {
		t.Errorf("one that there is not: %d %s", w.Code, w.Body)
	}
	if w := s.do("GET", "/api/v1/permissions/3/revoke", "ada", ""); w.Code != 405 {
		t.Errorf("a GET: %d %s", w.Code, w.Body)
	}
}
