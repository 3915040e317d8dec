package program

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// owned is what the system tells of a file of some user.
type owned struct {
	fs.FileInfo

	uid  uint32
	mode fs.FileMode
}

func (o owned) Sys() any           { return &syscall.Stat_t{Uid: o.uid} }
func (o owned) Mode() fs.FileMode  { return o.mode }
func (o owned) ModTime() time.Time { return time.Time{} }

// TestOwner: a program, a folder or a link may belong to root or to who runs the service, and to nobody else.
func TestOwner(t *testing.T) {
	t.Parallel()
	own := uint32(os.Geteuid())
	for uid, good := range map[uint32]bool{0: true, own: true, own + 12345: false} {
		err := checkOwner("the program /x", owned{uid: uid})
		if (err == nil) != good {
			t.Errorf("of the user %d: %v", uid, err)
		}
		if err != nil && !strings.Contains(err.Error(), "the program /x belongs to the user with the number ") {
			t.Errorf("it says %q", err)
		}
	}
}

// TestMode: nobody but the owner may write.
func TestMode(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]string{0o755: "", 0o500: "", 0o775: "its group", 0o757: "everybody", 0o777: "everybody"} {
		err := checkMode("program", "/x", owned{mode: mode})
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want+" can change the program /x; expected a program that only its owner can change: `chmod go-w /x`") {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// TestFollow: each folder and link on the way is looked at, those that a link leads through too.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	err = errors.Join(os.Chmod(dir, 0o755),
		os.MkdirAll(in("good", "bin"), 0o755), os.MkdirAll(in("open", "bin"), 0o755), os.MkdirAll(in("group", "bin"), 0o755), os.MkdirAll(in("sticky", "bin"), 0o755),
		os.Chmod(in("good"), 0o755), os.Chmod(in("good", "bin"), 0o755), os.Chmod(in("open", "bin"), 0o755), os.Chmod(in("group", "bin"), 0o755), os.Chmod(in("sticky", "bin"), 0o755),
		os.Chmod(in("open"), 0o777), os.Chmod(in("group"), 0o775), os.Chmod(in("sticky"), 0o777|fs.ModeSticky),
		os.WriteFile(in("good", "bin", "x"), nil, 0o700), os.WriteFile(in("open", "bin", "x"), nil, 0o700),
		os.WriteFile(in("group", "bin", "x"), nil, 0o700), os.WriteFile(in("sticky", "bin", "x"), nil, 0o700),
		os.Symlink("bin/x", in("good", "link")), os.Symlink(in("good", "link"), in("twice")), os.Symlink("../good/bin/../bin/x", in("good", "dots")),
		os.Symlink(in("open", "bin", "x"), in("through")), os.Symlink("good", in("folder")), os.Symlink("circle", in("circle")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		in("good", "bin", "x"): in("good", "bin", "x"), in("good", "link"): in("good", "bin", "x"), in("twice"): in("good", "bin", "x"),
		in("good", "dots"): in("good", "bin", "x"), in("folder", "link"): in("good", "bin", "x"), in("sticky", "bin", "x"): in("sticky", "bin", "x"),
		in("open", "bin", "x"): "everybody can change the folder " + in("open"), in("through"): "everybody can change the folder " + in("open"),
		in("group", "bin", "x"): "its group can change the folder " + in("group"),
		in("absent"):            "there is no " + in("absent"), in("good", "bin", "x", "y"): in("good", "bin", "x") + " is not a folder",
		in("circle"): in("circle") + " leads through more than 40 links",
	} {
		got, err := follow(path)
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), ";")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
