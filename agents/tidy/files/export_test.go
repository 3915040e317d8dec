//go:build linux || darwin || freebsd || netbsd

package files

import (
	"os"
)

// Seams for the tests of this package.

// OnStep lets a test act at each point of a removal.
func (s *Service) OnStep(f func(point, path string)) { s.step = f }

// OnAppend stands in for the journal's disk.
func (s *Service) OnAppend(f func(f *os.File, line []byte) error) { s.append = f }

// AppendLine is the real thing.
func AppendLine(f *os.File, line []byte) error { return appendLine(f, line) }

// OnLink stands in for a file system's links.
func (s *Service) OnLink(f func(root *os.Root, from, to string) error) { s.link = f }

// ActAs makes the service believe that it runs for this user.
func (s *Service) ActAs(uid int) { s.uid = uid }

// MoveRootToOtherDevice makes everything below a root look like another file system.
func (s *Service) MoveRootToOtherDevice() { s.opened = func(t *tree) { t.stamp.dev++ } }

// ForgetScans is a restart, as far as scans go.
func (s *Service) ForgetScans() { s.scans = newScans(0) }

// Scans counts the scans that wait for their next page.
func (s *Service) Scans() int { return len(s.scans.list) }

// DiskStartsAt makes a folder look like the place where the root's disk is mounted, and the home a place without a trash.
func (s *Service) DiskStartsAt(folder string) {
	s.homeTrash = "none"
	s.topOf = func(string, uint64) (string, error) { return folder, nil }
}

// OnSync stands in for the way to the disk.
func (s *Service) OnSync(f func(f *os.File) error) { s.sync = f }
