package presence

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/boottime"
)

// Terminal is a session of a terminal: the shell that began in it, and what is run there. It ends with that shell.
type Terminal struct {
	// Key identifies it: no other session of a terminal has ever had this key, or will.
	Key string
	// Name is the name of the device, such as pts/3, which others have later.
	Name string
}

// At returns the terminal that a process runs in. The first process of the terminal's session has to be above it, or be
// the process itself: what was cut loose from its parents is not what a person has typed. Neither is what another
// program than a shell has started. The error is a reason for people.
func (t Table) At(id int) (Terminal, error) {
	p, found := t(id)
	if !found {
		return Terminal{}, errUnknown
	}
	if p.Terminal == 0 {
		return Terminal{}, errNoTerminal
	}
	for above := range t.above(id) {
		if above.Session != p.Session {
			break
		}
		if above.ID != id && !isShell(above) {
			return Terminal{}, AbsenceError(fmt.Sprintf("the command was started by %s (process %d), and not by the shell of its terminal", above.Name, above.ID))
		}
		if above.ID == p.Session && above.Terminal == p.Terminal {
			return Terminal{
				Key:  fmt.Sprintf("%s %d %d %d", boottime.Boot(), p.Terminal, above.ID, above.Started),
				Name: deviceName(p.Terminal),
			}, nil
		}
	}
	return Terminal{}, errLoose
}

// AbsenceError is why no person is known to be at the other end. Its text goes on after a colon.
type AbsenceError string

func (r AbsenceError) Error() string { return string(r) }

const (
	errUnknown    AbsenceError = "which process asks is not known here"
	errNoTerminal AbsenceError = "the command does not run in a terminal"
	errLoose      AbsenceError = "the command was not started by the shell of its terminal"
)

// deviceName names a terminal's device by its number.
func deviceName(number int) string {
	const (
		console        = 4
		firstPTS, last = 136, 143
		perMajor       = 256
	)
	major, minor := number>>8&0xfff, number&0xff|number>>12&0xfff00
	switch {
	case major >= firstPTS && major <= last:
		return fmt.Sprintf("pts/%d", (major-firstPTS)*perMajor+minor)
	case major == console:
		return fmt.Sprintf("tty%d", minor)
	}
	return fmt.Sprintf("device-%d-%d", major, minor)
}
