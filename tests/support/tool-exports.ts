import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { zipOf } from './zip-files.ts';

const MEMBER = 'Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,LEID,EUID,NOTES,TAGS';

/** Files that the tools export, small, with every kind of row. */
export async function writeExports(folder: string): Promise<void> {
  const files: Record<string, string | Buffer> = {
    'subscribers.csv':
      'uuid,email,name,attributes,status,created_at,updated_at\r\nu1,ada@lists.test,"Lovelace, Ada","{""city"": ""Graz""}",enabled,,\r\n' +
      'u2,block@lists.test,B,{},blocklisted,,\r\nu3,off@lists.test,O,{},disabled,,\r\nu4,odd@lists.test,O,{},archived,,\r\n',
    'plunk-contacts.csv': 'email,subscribed,createdAt,plan\nada@plunk.test,true,x,pro\nbo@plunk.test,false,x,\n',
    'resend-contacts.csv':
      'id,email,first_name,last_name,unsubscribed,created_at\n1,ada@resend.test,Ada,L,false,x\n2,bo@resend.test,Bo,,true,x\n',
    'audience_export.zip': zipOf({
      'subscribed_members_export_1.csv': `${MEMBER}\nada@mc.test,Ada,Lovelace,5,2020-01-01 10:00:00,1,e1,,"""vip"""\n`,
      'unsubscribed_members_export_1.csv': `${MEMBER},UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON\nleft@mc.test,L,,2,,,,,,2021-02-03 04:05:06,May,N\nspam@mc.test,S,,1,,,,,,2021-02-03 04:05:06,May,SPAM\n`,
      'cleaned_members_export_1.csv': `${MEMBER},CLEAN_TIME,CLEAN_CAMPAIGN_TITLE\nbounced@mc.test,,,1,,,,,,2021-02-04 04:05:06,May\n`,
      'templates/welcome.html': '<p>Hi *|FNAME|*</p><a href="*|UNSUB|*">Leave</a>',
    }),
  };
  const sendGrid: Record<string, string> = {
    'contacts.csv': 'EMAIL,FIRST_NAME,CONTACT_ID,PLAN\nada@sg.test,Ada,1,pro\nleft@sg.test,L,3,\nweekly@sg.test,W,4,\n',
    'bounces.csv': 'status,reason,email,created\n5.1.1,"550, no such\nuser",gone@sg.test,1600000000\n',
    'blocks.csv': 'status,reason,email,created\n4.2.1,busy,ada@sg.test,1600000000\n',
    'global_unsubscribes.csv': 'email,created\nleft@sg.test,1600000000\n',
    'group_unsubscribes.csv': 'email,group_name,created\nweekly@sg.test,Weekly,1600000000\n',
  };
  await mkdir(path.join(folder, 'sendgrid'), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  for (const [name, content] of Object.entries(sendGrid)) await writeFile(path.join(folder, 'sendgrid', name), content);
}
