'use strict'
// A reporter for node --test: a line a case. Two cases of one name differ in their lines.
module.exports = async function * (events) {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details.type === 'suite') continue
    const left = data.skip !== undefined || data.todo !== undefined
    yield (type === 'test:fail' ? 'fail' : left ? 'skip' : 'pass') + '\t' + data.name + ' (line ' + data.line + ')\n'
  }
}
