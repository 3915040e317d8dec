// Package command serves programs of this machine as tools. A section of a YAML file that the operator wrote defines
// the programs and their arguments; an agent fills in the placeholders of the template, and nothing else.
//
// No shell is involved. A placeholder of a template becomes one whole argument, or none, or one for each item of a
// list. An agent's value is never an option: a value that begins with a dash is refused, unless a `--` precedes its
// placeholder in the template, or the placeholder allows a dash.
//
// A program runs in a separate process group with a small environment, for a limited time. When it ends, in whatever
// way, its group is killed, so nothing that it left in the group continues. Processes that leave the group (setsid) are
// out of reach, and so is what the program does with the rights of its user. A template limits what an agent may pass,
// not what a program can do.
package command
