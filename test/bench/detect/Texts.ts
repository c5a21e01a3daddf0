/**
 * Answers of people and machines. The halves share no sentence except the single words of `Texts.words`, because all
 * people answer with "hello".
 *
 * A part in `<>` is spoken by another voice: the name in a carrier's greeting. A greeting is cut into phrases at its
 * full stops and question marks, and at `|`.
 */
export interface Texts {
  /** A word or two of a person at home or on the move. */
  readonly words: ReadonlyArray<string>
  readonly residence: ReadonlyArray<string>
  readonly business: ReadonlyArray<string>
  /** Greetings recorded by the person that owns the telephone. */
  readonly personal: ReadonlyArray<string>
  /** Greetings read out by a speaker, or put together from read pieces. */
  readonly carrier: ReadonlyArray<string>
  readonly closed: ReadonlyArray<string>
  readonly menu: ReadonlyArray<string>
  /** Announcements that follow a special information tone. */
  readonly intercept: ReadonlyArray<string>
}

const words = ["Hello?", "Hello?", "Hello?", "Hi.", "Yes?", "Yeah?", "Hey.", "Hello."]

export const fit: Texts = {
  words,
  residence: [
    "Hello, this is Anna.",
    "Good morning.",
    "Hello, who is this?",
    "Speaking.",
    "Miller.",
    "Yes, hello?",
    "This is Peter, hi.",
    "Hello. | Hello?",
    "Hi, hold on a second.",
    "Anna Miller.",
    "Hello? Who's there?",
    "Yes, what is it?",
    "Hello, Frank here.",
    "Good evening.",
    "Hi, who's calling?",
    "This is she.",
    "Schneider.",
    "Yeah, hi?",
    "It's Laura, hello.",
    "Yes. | Hello?",
    "Hi there, just a moment please.",
    "Laura Bennett.",
    "Hello? Is anyone there?",
    "Hey, what's up?",
    "Hello, Bennett residence."
  ],
  business: [
    "Green and Partners, good morning.",
    "Good afternoon, Hotel Astoria, this is Claire speaking.",
    "Thanks for calling Blue Line, how can I help you?",
    "City Dental, Maria speaking.",
    "Sales, this is Robert.",
    "Front desk, how may I help you?",
    "Good morning, Harbour Bakery, Tim here.",
    "Doctor Baker's office, one moment please.",
    "North Star Insurance, good afternoon.",
    "Good morning, you're through to River Clinic, my name is Helen.",
    "Thank you for calling Summit Travel, what can I do for you?",
    "Oak Street Garage, Dennis speaking.",
    "Accounting, Emily here.",
    "Reception, who would you like to speak to?",
    "Good evening, Trattoria Roma.",
    "Technical support, this is Alan, how are you today?"
  ],
  personal: [
    "Hi, you have reached Tom. I can't come to the phone right now. Please leave a message after the tone.",
    "Hello, this is Susan. I am away from my desk at the moment. Leave your name and number and I will call you back.",
    "Hey, it's Mike. You know what to do.",
    "Hi, this is Karen. Sorry I missed your call. Leave me a message.",
    "You've reached the Johnsons. We're not home. Please leave a message and we'll get back to you as soon as we can.",
    "Hello, Jane here, I'm probably out with the dog, so leave a message and I'll call back when I am home.",
    "Hi, it's me. I'm not here. Bye.",
    "Hello, you've got Laura's phone. I'm either driving or in a meeting. Say who you are and I'll ring you later.",
    "Hi, this is Frank Bennett. I am not able to take your call. Please leave your name, your number and a short message.",
    "This is Dennis. Leave a message.",
    "Hey there, you almost got me. Try again later, or leave a voicemail.",
    "Good day, this is the Schneider family. Nobody can get to the phone. Speak after the beep, and we will call you.",
    "Hi, Emily's not around at the moment, but if you tell me who called I'll be sure to get back to you.",
    "Sorry, I can't talk now. Text me."
  ],
  carrier: [
    "The person you are calling is not available. Please leave a message after the beep.",
    "You have reached the voice mailbox of | <five five five, zero one two three>. | Please record your message after the tone.",
    "Your call has been forwarded to an automatic voice message system. <Steven Carter> | is not available. At the tone, please record your message. When you have finished recording, you may hang up, or press one for more options.",
    "Please leave your message for | <two zero two, five five five, zero one four four>.",
    "We are sorry, but nobody is available to take your call. At the tone, please record your message.",
    "The subscriber you have dialed cannot be reached. To leave a message, speak after the signal.",
    "Welcome to the mailbox of | <three one two, five five five, zero one nine eight>. | You can leave a message now.",
    "Hi, you've been forwarded to the voicemail of | <Patricia Long>. | No one can answer. Record your message after the tone. To send a fax, press four.",
    "The customer at | <four one five, five five five, zero one seven seven> | is unavailable. Please leave a voicemail.",
    "The mobile phone you called is switched off. Please try again later, or leave a message."
  ],
  closed: [
    "Thank you for calling Green and Partners. Our office is closed. Our opening hours are nine to five, Monday to Friday.",
    "You have called Doctor Baker's office. We are at lunch. In an emergency, hang up and dial nine one one.",
    "This is River Clinic. We are closed for the weekend. You can make an appointment on our web site, or call again on Monday.",
    "Summit Travel is not open right now. Please call between eight and six. Thank you and goodbye."
  ],
  menu: [
    "Welcome to Blue Line. For sales, press one. For support, press two. To hear this again, press star.",
    "Thank you for calling City Bank. This call may be recorded. Please enter your account number, followed by the pound key.",
    "Thanks for choosing North Star. If you know the extension, you can dial it at any time. Otherwise, stay on the line.",
    "Hello and welcome to City Power. To report an outage, press one. To pay a bill, press two."
  ],
  intercept: [
    "We're sorry. The number you have dialed is not in service. Please check the number and dial again.",
    "The number you have reached has been disconnected.",
    "Your call cannot be completed as dialed. Please hang up and try again.",
    "The subscriber's number has been changed. The new number is not known."
  ]
}

export const heldOut: Texts = {
  words,
  residence: [
    "Hello, Kevin speaking.",
    "Good day.",
    "Hi, can I help you?",
    "It's me.",
    "Novak.",
    "Hello, yes?",
    "Rachel here, hi.",
    "Hi. | Hello?",
    "Sorry, one second.",
    "Rachel Novak.",
    "Hello? Who am I talking to?",
    "Yes, how can I help?"
  ],
  business: [
    "Lakeside Pharmacy, good morning.",
    "Good afternoon, this is Maple Hotel, Brian speaking.",
    "Thanks for calling Prime Auto, which department please?",
    "Novak and Sons, Julia here.",
    "Service desk, Martin speaking.",
    "Front office, how can I direct your call?",
    "Good morning, Corner Bookshop.",
    "Doctor Hill's practice, could you hold for a moment?"
  ],
  personal: [
    "Hi, this is Rachel Novak. I'm away from the phone. Please leave your name and number, and I'll get back to you shortly.",
    "Hello, you've reached Kevin. Sorry I can't take your call. Leave a message and have a nice day.",
    "Hey, Julia here. Send me a text.",
    "You have reached the Novak home. We can't answer right now. Please leave a message after the beep.",
    "Hi there, it's Brian, I can't pick up at the moment, so please leave me a message and I will call you as soon as I can.",
    "This is Martin's voicemail. You know the drill.",
    "Hello, I'm on holiday until the fifteenth. If it's urgent, please call my colleague Julia. Otherwise leave a message."
  ],
  carrier: [
    "The person at extension | <two four one> | is on the phone. Please leave a message after the tone.",
    "You have reached the voicemail of | <seven seven three, five five five, zero one one six>. | Please speak after the tone.",
    "Sorry, the person you called can't take your call at the moment. Please leave a message after the beep.",
    "The wireless customer you are calling is not available. Please try your call again later.",
    "Welcome to the message service of | <Andrew Keller>. | Please record your message. Press hash when you are done."
  ],
  closed: [
    "You've reached Lakeside Pharmacy. Our store hours are eight to eight, seven days a week. Please call back then.",
    "Thank you for calling Prime Auto. All of our staff are busy or out of the office. Please leave a message."
  ],
  menu: [
    "Welcome to Maple Hotel. For reservations, press one. For the front desk, press zero.",
    "Thank you for calling the help line. Your call is important to us. Please hold for the next agent."
  ],
  intercept: [
    "The number you have dialed is incorrect. Please check it and try again.",
    "All circuits are busy now. Please try your call later."
  ]
}
