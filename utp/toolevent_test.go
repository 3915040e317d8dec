package utp_test

import (
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/utp"
)

func TestToolEvent(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{utp.SuffixProgress, utp.SuffixCancel} {
		s, err := utp.ToolEvent("home", "public", "files", suffix)
		if want := "cg.v1r4.home.public.evt.tool.files." + suffix; err != nil || s.String() != want || s.IsToolCommand() {
			t.Errorf("%s, %v; want %s", s, err, want)
		}
		if again, err := utp.ParseSubject(s.String()); err != nil || again != s {
			t.Errorf("read as %+v, %v", again, err)
		}
	}
	for _, bad := range [][4]string{{"a.b", "c", "t", "x"}, {"p", "*", "t", "x"}, {"p", "c", "", "x"}, {"p", "c", "t", "x.y"}} {
		if _, err := utp.ToolEvent(bad[0], bad[1], bad[2], bad[3]); !errors.As(err, new(*utp.SubjectError)) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
