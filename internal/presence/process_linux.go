package presence

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Processes is the table of this machine.
func Processes(id int) (Process, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return Process{}, false
	}
	p, found := parse(id, string(raw))
	if file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", id)); err == nil { // that of another user's is not readable
		p.Program = filepath.Base(strings.TrimSuffix(file, " (deleted)")) // it was updated since
	}
	return p, found
}

// parse reads /proc/ID/stat (proc_pid_stat(5)).
func parse(id int, text string) (Process, bool) {
	// These are the positions after the program's name, which may contain any character and ends with the last
	// parenthesis.
	const parent, group, session, terminal, started = 1, 2, 3, 4, 19
	begin, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if begin < 0 || end < begin {
		return Process{}, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) <= started {
		return Process{}, false
	}
	p := Process{ID: id, Name: text[begin+1 : end]}
	for at, into := range map[int]*int{parent: &p.Parent, group: &p.Group, session: &p.Session, terminal: &p.Terminal} {
		n, err := strconv.Atoi(fields[at])
		if err != nil {
			return Process{}, false
		}
		*into = n
	}
	var err error
	p.Started, err = strconv.ParseUint(fields[started], 10, 64)
	return p, err == nil
}
