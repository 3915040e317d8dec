// Package command serves programs of this machine as tools. Which programs, and with
// which arguments, stands in a section of a YAML file that its operator wrote; an agent
// fills the places that the template leaves open, and nothing else.
//
// No shell is involved. A place of a template is one whole argument, or none, or one for
// each item of a list. What an agent gives is never an option: a value that begins with
// a dash is refused, unless the template has a `--` before its place, or says of the
// place that a dash may stand there.
//
// A program runs in a process group of its own with a small environment, for a limited
// time. When it ends, in whatever way, its group is ended: nothing that it left behind in
// the group goes on. What leaves the group by itself (setsid) is out of reach; and so is
// what the program does with the rights of the user that it runs as. A template fences
// what an agent may say and not what a program can do.
package command
